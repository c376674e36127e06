import { isChangedMeanwhile, putOption } from '#console/api/options.ts'
import type { OptionChange } from './option-changes.ts'
import { rebasedChange } from './rebased-change.ts'

type Texts = ReadonlyMap<string, string>

/** A draft put on top of what somebody else has saved. */
export type Rebased = { readonly text: string; readonly onto: string }

export type Sent = {
  saved: ReadonlySet<string>
  /** What the server said, by option. */
  refusals: Texts
  /** What it said of options that it saved. */
  notes: Texts
  /** To be looked at and sent again. */
  rebased: ReadonlyMap<string, Rebased>
}

/** Others may save as well: so often what is theirs is taken along without asking. */
const TRIES_MAX = 3

/** `readAgain`: what the server has now. */
type ReadAgain = () => Promise<Texts>

/** One call for each option, side by side; what others saved meanwhile is never undone unseen. */
export async function sendChanges(
  changes: readonly OptionChange[],
  readAgain: ReadAgain,
): Promise<Sent> {
  const saved = new Set<string>()
  const refusals = new Map<string, string>()
  const notes = new Map<string, string>()
  const rebased = new Map<string, Rebased>()
  await Promise.all(
    changes.map(async (change) => {
      try {
        const note = await send(change, readAgain, (draft) => rebased.set(change.key, draft))
        saved.add(change.key)
        if (note !== '') notes.set(change.key, note)
      } catch (error) {
        refusals.set(change.key, error instanceof Error ? error.message : String(error))
      }
    }),
  )
  return { saved, refusals, notes, rebased }
}

async function send(
  { key, before, after }: OptionChange,
  readAgain: ReadAgain,
  onConflict: (draft: Rebased) => void,
): Promise<string> {
  let [seen, wanted] = [before, after]
  for (let tries = 1; ; tries += 1) {
    try {
      return await putOption(key, wanted, seen)
    } catch (error) {
      if (!isChangedMeanwhile(error)) throw error
      // What is read may be a moment behind what was refused.
      if (tries > 1) await new Promise((resume) => setTimeout(resume, 300))
      const theirs = (await readAgain()).get(key) ?? ''
      const { text, isClear } = rebasedChange({ before, after }, theirs)
      onConflict({ text, onto: theirs })
      if (!isClear || tries === TRIES_MAX) throw error
      ;[seen, wanted] = [theirs, text]
    }
  }
}
