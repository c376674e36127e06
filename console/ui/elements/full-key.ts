/** Adds the prefix that clients send; the server stores keys without the prefix. */
export const fullKey = (key: string): string => (key.startsWith('sk-') ? key : `sk-${key}`)
