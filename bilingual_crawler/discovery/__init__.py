"""Finding bilingual sites: which links lead to another language, which sites have one."""
