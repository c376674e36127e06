export const BODY_BYTES_MAX = 32 * 1024 * 1024
export const BODIES_BYTES_MAX = 512 * 1024 * 1024

/**
 * The sender of a request body, and the number of body bytes that this user may upload at the same
 * time.
 */
export type BodyOwner = { readonly userId: number; readonly bytesMax: number }

/** Counts the bytes of request bodies in memory, for the process and per user. */
export class BodyMemory {
  private held = 0
  private readonly heldBy = new Map<number, number>()
  private readonly most: number

  constructor(most: number = BODIES_BYTES_MAX) {
    this.most = most
  }

  /**
   * Reserves memory for a body. Returns false if too little is left. If the result is true, the
   * caller must later pass the same number to `giveBack`.
   */
  take(bytes: number): boolean {
    if (this.held + bytes > this.most) return false
    this.held += bytes
    return true
  }

  giveBack(bytes: number): void {
    this.held -= bytes
  }

  /**
   * Reserves a part of the user's share before the body's bytes arrive. Returns false if the share
   * is used up.
   */
  reserve({ userId, bytesMax }: BodyOwner, bytes: number): boolean {
    const held = (this.heldBy.get(userId) ?? 0) + bytes
    if (held > bytesMax) return false
    this.heldBy.set(userId, held)
    return true
  }

  release({ userId }: BodyOwner, bytes: number): void {
    const held = (this.heldBy.get(userId) ?? 0) - bytes
    if (held > 0) this.heldBy.set(userId, held)
    else this.heldBy.delete(userId)
  }
}
