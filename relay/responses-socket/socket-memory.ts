import type { BodyMemory, BodyOwner } from '../limits/body-memory.ts'

/**
 * The memory of one socket: messages that are incomplete or wait for a call, and the conversation.
 * It counts as memory of request bodies.
 */
export class SocketMemory {
  private bytes = 0
  private readonly memory: BodyMemory
  private readonly owner: BodyOwner

  constructor(memory: BodyMemory, owner: BodyOwner) {
    this.memory = memory
    this.owner = owner
  }

  /** Changes the memory to this number of bytes. Returns false if too little memory is left. */
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

/** Counts the messages of one socket in the current second. */
export class MessageRate {
  private second = 0
  private messages = 0

  /** Counts a message that arrives at the time `now` in milliseconds. */
  isExceeded(now: number): boolean {
    const second = Math.floor(now / 1_000)
    if (second !== this.second) this.messages = 0
    this.second = second
    this.messages += 1
    return this.messages > MESSAGES_PER_SECOND_MAX
  }
}
