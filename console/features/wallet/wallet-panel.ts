import type { ReactElement } from 'react'

/** Draws a `Panel` of the kit, or nothing where it has nothing to offer. */
export type WalletPanel = {
  readonly id: string
  readonly Panel: () => ReactElement | null
}
