// SPDX-License-Identifier: MIT

/// The built-in script: a morning in the life of an app.
enum Story {
  static let text = """
    # The app is launched. Business code speaks before there is anybody to listen.
    dispatch toast "Welcome back"
    dispatch navigation "inbox"

    # The app shell appears: what waited is delivered, in order.
    show toast
    show navigation
    dispatch toast "Delivered before dispatch returns"
    dispatch toast "From anywhere" from background

    # A sheet stands on top of the shell, for as long as it is open.
    sheet open
    dispatch toast "In front of you"
    sheet close
    dispatch toast "Back behind"

    # The app goes to the background. Commands wait; the newest of a kind is enough.
    background
    dispatch toast "1 message" unique latest badge
    dispatch toast "2 messages" unique latest badge
    dispatch toast "Payment failed" priority high
    dispatch analytics "went to background"
    show analytics
    active

    # The shell goes without a word, and comes back. Nothing is lost, nothing is kept alive.
    forget toast
    dispatch toast "Is anybody there?"
    wait 20s
    show toast

    # A module has its own relay; what it does not handle itself, the app's handlers do.
    scope checkout
    dispatch toast "Order placed"
    show mail
    network down
    dispatch mail "Receipt for order 7"
    wait 1s
    network up
    wait 2s
    scope app

    # A question waits for somebody to ask, and then for the answer.
    ask permission "camera"
    show permission
    permission deny
    ask permission "microphone"

    # One person goes, and what belonged to them goes too. The gate opens when no reason is left.
    background
    dispatch toast "Your parcel is here" tag user-42
    dispatch toast "Offers of the day"
    logout 42
    active
    login 7

    # More than anybody can read: the queue keeps the newest hundred, and not for ever.
    hide toast
    flood 1000
    wait 5m
    dispatch toast "Still here"
    show toast

    status
    """
}
