// SPDX-License-Identifier: MIT

/// What `--help` says.
let usage = """
  relayctl looks after the journal in which a relay keeps its durable commands.

    relayctl inspect DIRECTORY         the commands that wait, run, are dead letters, or lie in inboxes
    relayctl verify DIRECTORY          whether everything can be read, and where not
    relayctl compact DIRECTORY         writes the files anew without what is done
    relayctl export --json DIRECTORY   everything as one JSON object

  inspect, verify and export change nothing and work while an app uses the journal; compact needs it
  for itself.

    --json          inspect, verify and compact answer in JSON as well
    --known NAMES   names of commands that the app knows, separated by commas; others are "parked"
    --progress      tell how far it is, on standard error, also where that is no terminal
    --help          this text

  An app's journal lies where it was told to: .directory(url) is that directory,
  .applicationSupport("main") is RelayJournals/main in its Application Support directory
  (~/Library/Application Support, in an app's container where it has one; ~/.local/share on Linux),
  .appGroup("group.x", "main") is RelayJournals/main in the group's container.

  exit status
     0  done; verify: all can be read
     1  something is damaged
    64  the command line was not understood
    65  a newer version wrote it
    66  no such directory, or no journal in it
    74  the disk failed
    75  another process owns it (compact)
    77  the system does not permit it
  """
