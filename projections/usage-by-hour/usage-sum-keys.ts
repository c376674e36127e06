/**
 * Builds the keys under which the usage of users, tokens, channels and groups is summed. The site's
 * total has no key, because it is summed in another table.
 */
export const usageKeyOf = {
  user: (id: number) => `user:${id}`,
  token: (id: number) => `token:${id}`,
  channel: (id: number) => `channel:${id}`,
  group: (name: string) => `group:${name}`,
}
