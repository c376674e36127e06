import type { BodyMemory, BodyMemoryShare } from '../limits/body-memory.ts'

/**
 * Counts the memory of one socket: incomplete messages, messages that wait for a call, and the
 * conversation. This memory counts towards the limits for the request bodies of all users and of
 * this user.
 */
export class SocketMemory {
  private bytes = 0
  private readonly memory: BodyMemory
  private readonly owner: BodyMemoryShare

  constructor(memory: BodyMemory, owner: BodyMemoryShare) {
    this.memory = memory
    this.owner = owner
  }

  /**
   * Changes the reserved memory to this number of bytes. Returns false, and changes nothing, if too
   * little memory is left.
   */
  resize(bytes: number): boolean {
    const more = bytes - this.bytes
    if (more > 0) {
      if (!this.memory.take(more)) return false
      if (!this.memory.reserve(this.owner, more)) {
        this.memory.giveBack(more)
        return false
      }
    } else if (more < 0) {
      this.memory.giveBack(-more)
      this.memory.release(this.owner, -more)
    }
    this.bytes = bytes
    return true
  }
}

const MESSAGES_PER_SECOND_MAX = 20

/** Limits the number of messages per second on one socket. */
export class MessageRate {
  private second = 0
  private messages = 0

  /**
   * Counts a message that arrives at the time `now`, in milliseconds. Reports whether the limit is
   * exceeded.
   */
  isExceeded(now: number): boolean {
    const second = Math.floor(now / 1_000)
    if (second !== this.second) this.messages = 0
    this.second = second
    this.messages += 1
    return this.messages > MESSAGES_PER_SECOND_MAX
  }
}
