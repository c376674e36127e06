/** No such edge. */
export const NONE = -1

/** The beginnings of words: state 0 is the empty one, each other leads on from a shorter one. */
export class Trie {
  readonly parents: number[] = [0]
  /** The UTF-16 unit that leads to the state. */
  readonly units: number[] = [0]
  readonly isWord: number[] = [0]
  private readonly depths: number[] = [0]
  private readonly children = new Map<number, Map<number, number>>()

  get size(): number {
    return this.parents.length
  }

  add(word: string): void {
    let state = 0
    for (let index = 0; index < word.length; index += 1) {
      state = this.child(state, word.charCodeAt(index), index + 1)
    }
    if (state !== 0) this.isWord[state] = 1
  }

  /** Every state but 0, shorter beginnings first. */
  byDepth(): number[] {
    const states = this.parents.map((_, state) => state).slice(1)
    return states.sort((one, other) => (this.depths[one] ?? 0) - (this.depths[other] ?? 0))
  }

  private child(parent: number, unit: number, depth: number): number {
    const children = this.children.get(parent) ?? new Map<number, number>()
    this.children.set(parent, children)
    const known = children.get(unit)
    if (known !== undefined) return known
    const state = this.size
    children.set(unit, state)
    this.parents.push(parent)
    this.units.push(unit)
    this.depths.push(depth)
    this.isWord.push(0)
    return state
  }
}

const EMPTY = 0

/**
 * The edges of a trie in one open hash table of numbers: a map for each of 200 000 states would
 * take a hundred times the memory of the words.
 */
export class Edges {
  private readonly mask: number
  private readonly parents: Int32Array
  private readonly units: Uint16Array
  /** 0: nothing here, since no edge leads to the empty beginning. */
  private readonly children: Int32Array

  constructor({ parents, units, size }: Trie) {
    const room = 2 ** Math.ceil(Math.log2(size * 2 + 1))
    this.mask = room - 1
    this.parents = new Int32Array(room)
    this.units = new Uint16Array(room)
    this.children = new Int32Array(room)
    for (let child = 1; child < size; child += 1) {
      this.put(parents[child] ?? 0, units[child] ?? 0, child)
    }
  }

  find(parent: number, unit: number): number {
    for (let at = this.place(parent, unit); ; at = (at + 1) & this.mask) {
      const child = this.children[at] ?? EMPTY
      if (child === EMPTY) return NONE
      if (this.parents[at] === parent && this.units[at] === unit) return child
    }
  }

  private put(parent: number, unit: number, child: number): void {
    let at = this.place(parent, unit)
    while (this.children[at] !== EMPTY) at = (at + 1) & this.mask
    this.parents[at] = parent
    this.units[at] = unit
    this.children[at] = child
  }

  private place(parent: number, unit: number): number {
    const hash = Math.imul(parent, 0x9e3779b1) ^ Math.imul(unit, 0x85ebca6b)
    return (hash ^ (hash >>> 15)) & this.mask
  }
}
