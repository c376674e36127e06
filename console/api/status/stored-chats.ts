/**
 * Whether the chat clients that the last visit left in this browser can't be read: looked at as the
 * console starts, before the site's own list takes their place.
 */
let isBroken = isUnreadable(localStorage.getItem('chats'))

function isUnreadable(text: string | null): boolean {
  if (text === null) return false
  try {
    return !Array.isArray(JSON.parse(text))
  } catch {
    return true
  }
}

/** True once, where they were; told by whichever screen shows the clients first. */
export function takeChatsFault(): boolean {
  const was = isBroken
  isBroken = false
  return was
}
