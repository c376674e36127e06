/** The key with the prefix that clients send; the server stores keys without it. */
export const fullKey = (key: string): string => (key.startsWith('sk-') ? key : `sk-${key}`)
