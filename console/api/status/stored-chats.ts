type Chat = Readonly<Record<string, string>>

/**
 * The chat clients that the last visit left in this browser; null where they can't be read. Looked
 * at as the console starts, before the site's own list takes their place.
 */
const stored = read(localStorage.getItem('chats'))
let isBroken = stored === null

function read(text: string | null): readonly Chat[] | null {
  if (text === null) return []
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value.filter(isChat) : null
  } catch {
    return null
  }
}

function isChat(value: unknown): value is Chat {
  const isObject = typeof value === 'object' && value !== null
  return isObject && Object.values(value).every((link) => typeof link === 'string')
}

/** The site's clients until its own answer is there. */
export const storedChats = (): readonly Chat[] => stored ?? []

/** True once, where they were; told by whichever screen shows the clients first. */
export function takeChatsFault(): boolean {
  const was = isBroken
  isBroken = false
  return was
}
