// SPDX-License-Identifier: MIT

/// What `--help` and `help` say.
enum Usage {
  static let text = """
    relay-demo: an app shell that comes, goes and comes back, and the commands that wait for it.

    USAGE
      relay-demo [OPTION …]            plays a built-in story
      relay-demo [OPTION …] run FILE   plays a script
      relay-demo [OPTION …] run -      plays lines from standard input

    OPTIONS
      --journal DIR
                   keeps the app's durable commands in this directory, and begins with what an
                   earlier run has left there
      --json       writes the relays' events to standard output, one JSON object a line, and
                   nothing else
      -h, --help   shows this
      --           ends the options: what follows may begin with a dash

    \(words)

    TIME
      The demo has a clock of its own, which stands still until a script says "wait": nothing ever
      sleeps, and a script prints the same each time.

    OUTPUT
      What a line brings about is printed before the next line is read. Standard output is in
      colour on a terminal, unless NO_COLOR is set or TERM is dumb, and plain in a pipe or a file.
      Lines that are not understood are told on standard error with their number and what was
      expected, and the rest goes on.

    EXIT STATUS
      0    every line was understood
      1    at least one line was not
      64   the command line was not understood
      66   the script could not be read
      74   standard output could not be written
      137  a script said "crash" (SIGKILL, as a shell counts it)
    """

  static let words = """
    WORDS, one instruction a line
      business code
        dispatch FEATURE "TEXT" [OPTION …]   sends a command; options, in any order:
            from background                  from another thread
            priority low|normal|high|critical
            tag NAME                         a name to cancel it by; more than once if you like
            unique first KEY                 refused while one with the key waits, runs or is fresh
            unique latest KEY                takes the place of a waiting one with the key
            within TIME                      expires after that long
            durable                          written down first: it survives a crash, with --journal
        ask permission ["WHAT"] [within TIME]   asks, and waits for the answer
        flood COUNT [FEATURE]                as many commands, one after the other
        cancel TAG                           drops what waits under a tag
        clear [FEATURE]                      drops what waits
      app shell
        show FEATURE, hide FEATURE           registers the feature's handler, unregisters it
        forget FEATURE                       lets go of the handler without unregistering it
        sheet open|close                     another handler for toasts, on top of the first one
        background, active                   closes the gate for "background", opens it
        logout [USER], login [USER]          closes the gate for "login" and cancels what is tagged
                                             user-USER (42 if you name none), opens it
        permission allow|deny                what the person answers from now on
        network down|up                      while it is down, mails fail and are tried again
        scope NAME                           a module's own relay, with app as its parent; the
                                             lines that follow speak of it ("scope app": back)
        close                                closes the module's relay and goes back to app
        reset                                empties the scope's relay: commands and handlers
      the rest
        crash                                kills this process, without a last word
        wait TIME                            moves the clock: 500ms, 5s, 2m, 1h
        status                               shows all relays as tables
        help                                 shows these words
        # …                                  a comment

      FEATURE is toast, navigation, mail, analytics or permission. Permission is asked, the others
      are dispatched. Analytics ignores the gate. TEXT stands in quotation marks; \\" \\\\ \\n and \\t
      are understood in it. A line has at most 4096 bytes.
    """
}
