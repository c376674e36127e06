import type { ReactElement } from 'react'
import type { User } from '#read-api/contract/users.ts'

/** What a panel is given: the own account, undefined until it is known. */
export type MePanelProps = { readonly user: User | undefined }

export type MePanel = {
  readonly id: string
  /** On narrow screens the side's panels follow the main ones. */
  readonly column: 'main' | 'side'
  /** Draws a `Panel` of the kit, or nothing where it has nothing to offer. */
  readonly Panel: (props: MePanelProps) => ReactElement | null
}
