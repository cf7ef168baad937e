"""Errors that are sentences to a person."""


class ConfigurationError(SystemExit):
    """What the user wrote cannot be run; the message says what to write instead.

    It ends the process with its message alone and exit status 1, because a traceback
    would hide the one sentence that matters. Programs that embed the crawler catch it
    like any other exception.
    """

    def __init__(self, *problems: str) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))

    def __str__(self) -> str:
        return "\n".join(self.problems)
