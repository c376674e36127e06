/** Returns the key as clients send it. The server stores keys without the prefix. */
export const fullKey = (key: string): string => (key.startsWith('sk-') ? key : `sk-${key}`)
