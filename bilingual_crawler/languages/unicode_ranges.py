"""Character ranges of scripts, for splitting text into words."""

UNSPACED = (
    "\\u0e01-\\u0e3a\\u0e40-\\u0e4e\\u0e50-\\u0e59"  # Thai
    "\\u0e81-\\u0eff"  # Lao
    "\\u1000-\\u1049\\u1050-\\u109d\\ua9e0-\\ua9fe\\uaa60-\\uaa7f"  # Myanmar
    "\\u1780-\\u17d3\\u17d7\\u17dc-\\u17e9"  # Khmer
    "\\u3041-\\u3096\\u3099\\u309a\\u309d-\\u309f"  # Hiragana
    "\\u30a1-\\u30fa\\u30fc-\\u30ff\\u31f0-\\u31ff"  # Katakana
    "\\u3005-\\u3007\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\U00020000-\\U000323af"  # Han
)
"""The characters of scripts without spaces, as a class of a regular expression."""

MARKS = (
    "\\u0300-\\u036f\\u0483-\\u0487"  # Latin, Greek, Cyrillic
    "\\u0591-\\u05bd\\u05bf\\u05c1\\u05c2\\u05c4\\u05c5\\u05c7"  # Hebrew
    "\\u0610-\\u061a\\u0640\\u064b-\\u065f\\u0670\\u06d6-\\u06ed\\u200c\\u200d"  # Arabic, joiners
    "\\u0900-\\u0903\\u093a-\\u094f\\u0951-\\u0957\\u0962\\u0963"  # Devanagari
    "\\u0981-\\u0983\\u09bc\\u09be-\\u09cd\\u09d7"  # Bengali
    "\\u0a01-\\u0a03\\u0a3c-\\u0a51"  # Gurmukhi
    "\\u0a81-\\u0a83\\u0abc\\u0abe-\\u0acd\\u0b01-\\u0b03\\u0b3c\\u0b3e-\\u0b57"  # Gujarati, Oriya
    "\\u0b82\\u0bbe-\\u0bcd\\u0bd7\\u0c00-\\u0c04\\u0c3c\\u0c3e-\\u0c56"  # Tamil, Telugu
    "\\u0c81-\\u0c83\\u0cbc\\u0cbe-\\u0cd6"  # Kannada
    "\\u0d00-\\u0d03\\u0d3b-\\u0d4d\\u0d57"  # Malayalam
    "\\u0d81-\\u0d83\\u0dca-\\u0ddf"  # Sinhala
)
"""Marks that are parts of words but are not matched by `\\w` of the standard library."""
