/**
 * Makes the ids of tool calls unique, and restricts them to the characters that Anthropic accepts:
 * letters, digits, `_` and `-`. If several calls have the same original id, a result gets the id of
 * the last one.
 */
export class ToolCallIds {
  private readonly written = new Map<string, string>()
  private readonly taken = new Set<string>()
  private readonly copies = new Map<string, number>()

  forCall(id: string): string {
    const base = allowed(id)
    let unique = base
    while (this.taken.has(unique)) {
      const copy = (this.copies.get(base) ?? 1) + 1
      this.copies.set(base, copy)
      unique = `${base}_${copy}`
    }
    this.taken.add(unique)
    this.written.set(id, unique)
    return unique
  }

  forResult(callId: string): string {
    return this.written.get(callId) ?? allowed(callId)
  }
}

const allowed = (id: string): string => (id === '' ? 'call' : id.replaceAll(/[^\w-]/g, '_'))
