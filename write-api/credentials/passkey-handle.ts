/** What an authenticator keeps with a passkey, and shows where nobody was named before. */
export const userHandleOf = (userId: number): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(`user:${userId}`))

/** null for what we never gave out. */
export function userOfHandle(handle: string): number | null {
  const [, id] = /^user:([1-9]\d{0,14})$/.exec(Buffer.from(handle, 'base64url').toString()) ?? []
  return id === undefined ? null : Number(id)
}
