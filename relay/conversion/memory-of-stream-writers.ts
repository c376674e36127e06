/**
 * The maximum number of characters of an answer that a stream's writer holds back. Texts and
 * arguments from a provider may have any length.
 */
export const HELD_BACK_CHARACTERS_MAX = 4 * 1024 * 1024

/** The assumed size, in characters, of a part without a text. */
const PART_CHARACTERS = 100

/** Counts the characters of an answer that a stream's writer holds in memory. */
export class HeldCharacters {
  private readonly max: number
  private count = 0

  constructor(max = HELD_BACK_CHARACTERS_MAX) {
    this.max = max
  }

  get isTooMuch(): boolean {
    return this.count > this.max
  }

  /** Adds a number of characters, which is negative if they were written. */
  add(characters: number): void {
    this.count += characters
  }

  /** Adds the characters of an event that belongs to a part of the answer, and returns them. */
  addEvent(event: object): number {
    let characters = 'name' in event ? PART_CHARACTERS : 0
    for (const value of Object.values(event)) {
      if (typeof value === 'string') characters += value.length
    }
    this.add(characters)
    return characters
  }
}
