/**
 * The query of the address as it will be: navigation takes a moment, so a change that is made
 * before the last one has landed must start from what that one asked for, not from what is drawn.
 */
type Coming = { readonly from: string; readonly params: URLSearchParams; readonly isStep: boolean }

export type AddressChange = { readonly params: URLSearchParams; readonly isReplacing: boolean }

export type StepKind =
  /** A step of its own, that Back undoes. */
  | 'step'
  /** No step: corrects what is there. */
  | 'replace'
  /** Letter by letter: the first makes the step, and all until the next commit belong to it. */
  | 'typing'

let coming: Coming | null = null
let typed: string | null = null

/** Where the next change starts from, and whether it makes a step; `name` says what is typed in. */
export function changeAddress(
  change: (params: URLSearchParams) => URLSearchParams,
  kind: StepKind,
  name = '',
): AddressChange {
  const from = entryId()
  const last = coming?.from === from ? coming : null
  const now = last?.params ?? new URLSearchParams(window.location.search)
  const before = String(now)
  const params = change(now)
  // Asked for again before it was drawn (a suggestion taken, and Enter): one step, not two.
  const isSame = String(params) === before
  const isGoingOn = kind === 'typing' && typed === name
  typed = kind === 'typing' ? name : null
  // What replaces a step that has not landed yet must make that step itself.
  const isStep = last?.isStep === true || (kind !== 'replace' && !isGoingOn && !isSame)
  coming = { from, params, isStep }
  return { params, isReplacing: !isStep }
}

/** What was typed is settled: the box was left, Enter pressed, a value chosen. */
function endTyping(): void {
  typed = null
}

window.addEventListener('change', endTyping, true)
window.addEventListener('focusout', endTyping, true)
window.addEventListener('popstate', () => {
  typed = null
  // Back to the entry that a change once started from: that change is not under way any more.
  coming = null
})

/** Different for every entry of the history, also for one that was replaced. */
function entryId(): string {
  const { key } = (window.history.state ?? {}) as { key?: string }
  return `${key ?? ''} ${window.location.pathname}${window.location.search}`
}
