/**
 * The keys under which usage is summed. The site's total is in a separate table without these keys.
 */
export const usageKeyOf = {
  user: (id: number) => `user:${id}`,
  token: (id: number) => `token:${id}`,
  channel: (id: number) => `channel:${id}`,
  group: (name: string) => `group:${name}`,
}
