/** Marks an edge that does not exist in the trie. */
const NONE = -1

/**
 * A trie of words. Each state represents a prefix of a word, and state 0 represents the empty
 * prefix. An edge adds one UTF-16 unit to a prefix.
 */
class Trie {
  readonly parents: number[] = [0]
  /** The UTF-16 unit on the edge that leads to each state. */
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

  /** Returns all states except state 0, from the shortest to the longest prefix. */
  byDepth(): number[] {
    const states = this.parents.map((_, state) => state).slice(1)
    return states.sort((one, other) => (this.depths[one] ?? 0) - (this.depths[other] ?? 0))
  }

  private child(parent: number, unit: number, depth: number): number {
    const children = this.children.get(parent) ?? new Map<number, number>()
    this.children.set(parent, children)
    const child = children.get(unit)
    if (child !== undefined) return child
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
 * The edges of a trie in one open-addressing hash table of numbers. With 200 000 states, a map for
 * each state would take a hundred times the memory of the words.
 */
class Edges {
  private readonly mask: number
  private readonly parents: Int32Array
  private readonly units: Uint16Array
  /** The target state of each slot. 0 marks an empty slot, because no edge leads to state 0. */
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

/** The state of the matcher after a part of a text. It is -1 once a word was found. */
type MatchState = number

/** The state before the first part of a text. */
export const MATCH_START: MatchState = 0
/** The state after a word was found. */
export const MATCHED: MatchState = -1

const UNITS = 65_536

/**
 * Finds any of many words in one pass over a text (Aho and Corasick, 1975). Words and texts are
 * compared in Unicode compatibility form (NFKC) and lower case.
 */
export class WordMatcher {
  private readonly first = new Int32Array(UNITS)
  private readonly edges: Edges
  private readonly fallback: Int32Array
  private readonly isWord: Uint8Array

  constructor(words: readonly string[]) {
    const trie = new Trie()
    for (const word of words) trie.add(fold(word))
    this.edges = new Edges(trie)
    this.fallback = new Int32Array(trie.size)
    this.isWord = Uint8Array.from(trie.isWord)
    for (const state of trie.byDepth()) this.link(trie, state)
  }

  /** Continues from `state` with the next part of the text. Returns the new state. */
  feed(state: MatchState, text: string): MatchState {
    if (state === MATCHED) return MATCHED
    const folded = fold(text)
    const { first, edges, fallback, isWord } = this
    let at = state
    for (let index = 0; index < folded.length; index += 1) {
      const unit = folded.charCodeAt(index)
      let next = at === 0 ? NONE : edges.find(at, unit)
      while (next === NONE && at !== 0) {
        at = fallback[at] ?? 0
        next = at === 0 ? NONE : edges.find(at, unit)
      }
      at = next === NONE ? (first[unit] ?? 0) : next
      if (isWord[at] === 1) return MATCHED
    }
    return at
  }

  /**
   * Sets the failure link of a state (Aho and Corasick). The link leads to the state of the longest
   * proper suffix of the state's prefix that the trie contains.
   */
  private link(trie: Trie, state: number): void {
    const parent = trie.parents[state] ?? 0
    const unit = trie.units[state] ?? 0
    if (parent === 0) {
      this.first[unit] = state
      return
    }
    let from = this.fallback[parent] ?? 0
    let found = from === 0 ? (this.first[unit] ?? 0) : this.edges.find(from, unit)
    while (found === NONE) {
      from = this.fallback[from] ?? 0
      found = from === 0 ? (this.first[unit] ?? 0) : this.edges.find(from, unit)
    }
    this.fallback[state] = found
    if (this.isWord[found] === 1) this.isWord[state] = 1
  }
}

const fold = (text: string): string => text.normalize('NFKC').toLowerCase()
