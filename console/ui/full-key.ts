/** As a client sends it; the server keeps keys without the prefix. */
export const fullKey = (key: string): string => (key.startsWith('sk-') ? key : `sk-${key}`)
