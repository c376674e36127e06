export const BODY_BYTES_MAX = 32 * 1024 * 1024
export const BODIES_BYTES_MAX = 512 * 1024 * 1024

/** Whose body it is, and how many bytes of bodies that user may have under way at once. */
export type BodyOwner = { readonly userId: number; readonly bytesMax: number }

/** Bytes of request bodies held at once, over all calls and for each user. */
export class BodyMemory {
  private held = 0
  private readonly heldBy = new Map<number, number>()
  private readonly most: number

  constructor(most: number = BODIES_BYTES_MAX) {
    this.most = most
  }

  /** False when there is no room; else `giveBack` the same number later. */
  take(bytes: number): boolean {
    if (this.held + bytes > this.most) return false
    this.held += bytes
    return true
  }

  giveBack(bytes: number): void {
    this.held -= bytes
  }

  /** A part of the owner's share, also for bytes that have not come yet; false: it is full. */
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
