/** The maximum size of one request body, in bytes. */
export const BODY_BYTES_MAX = 32 * 1024 * 1024
/** The maximum size of all request bodies in memory together, in bytes. */
export const BODIES_BYTES_MAX = 512 * 1024 * 1024

/**
 * The maximum number of bytes for the decoders of all compressed bodies that are being received.
 */
const DECODERS_BYTES_MAX = 256 * 1024 * 1024
const DECODERS_BYTES_OF_USER_MAX = 64 * 1024 * 1024

/**
 * The user who sends a request body. `bytesMax` limits the bytes of all bodies that this user has
 * in memory.
 */
export type BodyMemoryShare = { readonly userId: number; readonly bytesMax: number }

/**
 * Counts the bytes of request bodies in memory, in total for the process and separately for each
 * user.
 */
export class BodyMemory {
  private held = 0
  private readonly heldBy = new Map<number, number>()
  private decoders = 0
  private readonly decodersOf = new Map<number, number>()
  private readonly most: number

  constructor(most: number = BODIES_BYTES_MAX) {
    this.most = most
  }

  /**
   * Reserves memory for a body. Returns false if too little memory is left. After a result of true,
   * `giveBack` must be called with the same number.
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
   * Reserves bytes of the memory that one user's request bodies may use, before a body arrives.
   * Returns false if fewer bytes are left.
   */
  reserve({ userId, bytesMax }: BodyMemoryShare, bytes: number): boolean {
    const held = (this.heldBy.get(userId) ?? 0) + bytes
    if (held > bytesMax) return false
    this.heldBy.set(userId, held)
    return true
  }

  release({ userId }: BodyMemoryShare, bytes: number): void {
    lower(this.heldBy, userId, bytes)
  }

  /**
   * Reserves memory for a body, both in the process and in the user's share. Returns which of the
   * two has too little memory left, or null. After a result of null, `giveBackOf` must be called
   * with the same number.
   */
  takeOf(owner: BodyMemoryShare, bytes: number): 'user' | 'process' | null {
    if (!this.reserve(owner, bytes)) return 'user'
    if (this.take(bytes)) return null
    this.release(owner, bytes)
    return 'process'
  }

  giveBackOf(owner: BodyMemoryShare, bytes: number): void {
    this.giveBack(bytes)
    this.release(owner, bytes)
  }

  /**
   * Reserves memory for the decoder of a compressed body. Decoders have a separate limit, because a
   * few bytes on the wire can demand a large decoder. If decoders and bodies shared one limit, a
   * few slow uploads could make the relay refuse all other requests. Returns false if too little
   * memory is left.
   */
  takeDecoder(owner: BodyMemoryShare | null, bytes: number): boolean {
    const ofUser = owner === null ? 0 : (this.decodersOf.get(owner.userId) ?? 0) + bytes
    const isFull = this.decoders + bytes > DECODERS_BYTES_MAX
    if (isFull || ofUser > DECODERS_BYTES_OF_USER_MAX) return false
    this.decoders += bytes
    if (owner !== null) this.decodersOf.set(owner.userId, ofUser)
    return true
  }

  giveBackDecoder(owner: BodyMemoryShare | null, bytes: number): void {
    this.decoders -= bytes
    if (owner !== null) lower(this.decodersOf, owner.userId, bytes)
  }

  /** The memory in bytes that is reserved for bodies and for decoders. */
  get taken(): { readonly bodies: number; readonly decoders: number } {
    return { bodies: this.held, decoders: this.decoders }
  }
}

function lower(counts: Map<number, number>, userId: number, bytes: number): void {
  const left = (counts.get(userId) ?? 0) - bytes
  if (left > 0) counts.set(userId, left)
  else counts.delete(userId)
}
