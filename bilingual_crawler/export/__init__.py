"""The corpus in the formats that others read: one module a format, all of them streaming."""
