import { Edges, NONE, Trie } from './trie.ts'

/** Where a text stands between two pieces of it; -1 once a word was found. */
export type MatchState = number

export const MATCH_START: MatchState = 0
export const MATCHED: MatchState = -1

const UNITS = 65_536

/**
 * Finds any of many words in a text, in one pass over it whatever their number (Aho and Corasick,
 * 1975). Words and texts are compared folded: in compatibility form and lower case.
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

  /** Goes on from `state` over more of the text. */
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

  /** Where a state falls back to: the longest other beginning that its text ends with. */
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

/** So that neither case nor full width hides a word. */
const fold = (text: string): string => text.normalize('NFKC').toLowerCase()
