/** What a row of the log is counted under, beside everybody's. */
export const partOf = {
  user: (id: number) => `user:${id}`,
  token: (id: number) => `token:${id}`,
  channel: (id: number) => `channel:${id}`,
  group: (name: string) => `group:${name}`,
}
