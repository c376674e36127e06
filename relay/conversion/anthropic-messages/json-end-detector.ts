/** Detects the end of a JSON object or array whose text arrives in pieces. */
export class JsonEndDetector {
  private depth = 0
  private isInString = false
  private isEscaped = false
  private hasBegun = false

  /** True once the text contains a complete object or array. */
  get isComplete(): boolean {
    return this.hasBegun && this.depth === 0
  }

  add(piece: string): void {
    for (const character of piece) {
      if (this.isInString) this.addToString(character)
      else this.addOutside(character)
    }
  }

  private addToString(character: string): void {
    if (this.isEscaped) this.isEscaped = false
    else if (character === '\\') this.isEscaped = true
    else if (character === '"') this.isInString = false
  }

  private addOutside(character: string): void {
    if (character === '"') this.isInString = true
    else if (character === '{' || character === '[') {
      this.depth += 1
      this.hasBegun = true
    } else if ((character === '}' || character === ']') && this.depth > 0) this.depth -= 1
  }
}
