"""`python -m bilingual_crawler`: the console script, for environments without one."""

from bilingual_crawler.commands.main import main

if __name__ == "__main__":
    main()
