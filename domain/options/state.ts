import type { PriceChangeScheduled } from './events.ts'

/** Not applied yet, and not cancelled. */
export type PlannedChange = PriceChangeScheduled['data']

/** The texts that were set, and the vault's references of the secret ones. */
export type OptionsState = {
  readonly values: Map<string, string>
  readonly secretRefs: Map<string, string>
  readonly planned: Map<number, PlannedChange>
  /** Of all changes that were ever scheduled; 0 for none. */
  lastPlannedId: number
}

export const initialOptions = (): OptionsState => ({
  values: new Map(),
  secretRefs: new Map(),
  planned: new Map(),
  lastPlannedId: 0,
})
