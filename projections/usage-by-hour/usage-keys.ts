/** The keys under which the usage of a log row is summed. The site's total is summed separately. */
export const partOf = {
  user: (id: number) => `user:${id}`,
  token: (id: number) => `token:${id}`,
  channel: (id: number) => `channel:${id}`,
  group: (name: string) => `group:${name}`,
}
