import { isConflict, putOption } from '#console/api/options.ts'
import { mergeChange, type OptionChange } from './compare-and-merge-option-changes.ts'

type Texts = ReadonlyMap<string, string>

/**
 * The result of merging this user's change of an option with the change of another user who saved
 * first. `text` contains both changes. `theirs` is the value that the other user saved.
 */
export type MergedText = { readonly text: string; readonly theirs: string }

type SaveResult = {
  saved: ReadonlySet<string>
  errors: Texts
  notes: Texts
  merged: ReadonlyMap<string, MergedText>
}

/**
 * The maximum number of attempts to save an option. An attempt fails if another user has saved the
 * option first. The next attempt merges that user's change.
 */
const ATTEMPTS_MAX = 3

type ReadOptions = () => Promise<Texts>

/**
 * Saves the changed options. If another user has saved an option in the meantime, both changes are
 * merged, so that no change is overwritten. A change that conflicts with the other user's change is
 * not saved, and `errors` contains the server's message.
 */
export async function saveOptionChanges(
  changes: readonly OptionChange[],
  readOptions: ReadOptions,
): Promise<SaveResult> {
  const saved = new Set<string>()
  const errors = new Map<string, string>()
  const notes = new Map<string, string>()
  const merged = new Map<string, MergedText>()
  await Promise.all(
    changes.map(async (change) => {
      try {
        const note = await send(change, readOptions, (draft) => merged.set(change.key, draft))
        saved.add(change.key)
        if (note !== '') notes.set(change.key, note)
      } catch (error) {
        errors.set(change.key, error instanceof Error ? error.message : String(error))
      }
    }),
  )
  return { saved, errors, notes, merged }
}

async function send(
  { key, before, after }: OptionChange,
  readOptions: ReadOptions,
  onConflict: (draft: MergedText) => void,
): Promise<string> {
  let [seen, desired] = [before, after]
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await putOption(key, desired, seen)
    } catch (error) {
      if (!isConflict(error)) throw error
      // The retry waits, because the read model may not yet include the other user's change.
      if (attempt > 1) await new Promise((resume) => setTimeout(resume, 300))
      const theirs = (await readOptions()).get(key) ?? ''
      const { text, hasConflict } = mergeChange({ before, after }, theirs)
      onConflict({ text, theirs })
      if (hasConflict || attempt === ATTEMPTS_MAX) throw error
      ;[seen, desired] = [theirs, text]
    }
  }
}
