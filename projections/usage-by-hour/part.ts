/** The parts that a row of the log counts towards, besides the site's total. */
export const partOf = {
  user: (id: number) => `user:${id}`,
  token: (id: number) => `token:${id}`,
  channel: (id: number) => `channel:${id}`,
  group: (name: string) => `group:${name}`,
}
