/** A socket that keeps a conversation in memory and can drop it. */
type Holder = { readonly dropConversation: () => void }

type Conversation = { readonly userId: number; readonly bytes: number }

/**
 * Limits the memory of conversations on sockets without a running call. Callers pay nothing for a
 * conversation in memory. All conversations together may therefore use only a small part of the
 * memory for request bodies, and the conversations of one user an even smaller part. Above these
 * limits, the conversation that has been idle for the longest time is dropped.
 */
export class IdleConversations {
  private readonly bytesMax: number
  private readonly bytesPerUserMax: number
  /**
   * The conversations. The key is the socket. The first entry has been idle for the longest time.
   */
  private readonly held = new Map<Holder, Conversation>()
  private readonly bytesByUser = new Map<number, number>()
  private bytes = 0

  constructor(bytesMax: number, bytesPerUserMax: number) {
    this.bytesMax = bytesMax
    this.bytesPerUserMax = bytesPerUserMax
  }

  /**
   * Adds a conversation of this number of bytes. If a limit is exceeded, drops the conversations
   * that have been idle for the longest time, and also the added one if it alone exceeds a limit.
   */
  add(holder: Holder, userId: number, bytes: number): void {
    this.remove(holder)
    this.held.set(holder, { userId, bytes })
    this.change(userId, bytes)
    while (this.bytesOf(userId) > this.bytesPerUserMax) this.dropOldest(userId)
    while (this.bytes > this.bytesMax) this.dropOldest(null)
  }

  /**
   * Stops counting a socket's conversation towards the limits, for example because a call has begun
   * on the socket or the socket has closed. The conversation itself, which the socket stores, is
   * not deleted.
   */
  remove(holder: Holder): void {
    const conversation = this.held.get(holder)
    if (conversation === undefined) return
    this.held.delete(holder)
    this.change(conversation.userId, -conversation.bytes)
  }

  private dropOldest(ofUser: number | null): void {
    for (const [holder, { userId }] of this.held) {
      if (ofUser !== null && userId !== ofUser) continue
      this.remove(holder)
      return holder.dropConversation()
    }
  }

  private bytesOf(userId: number): number {
    return this.bytesByUser.get(userId) ?? 0
  }

  private change(userId: number, more: number): void {
    this.bytes += more
    const ofUser = this.bytesOf(userId) + more
    if (ofUser > 0) this.bytesByUser.set(userId, ofUser)
    else this.bytesByUser.delete(userId)
  }
}
