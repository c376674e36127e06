import type { ReactElement } from 'react'
import type { User } from '#read-api/contract/users.ts'

/** The props of a panel: the user's account, undefined while loading. */
export type MePanelProps = { readonly user: User | undefined }

export type MePanel = {
  readonly id: string
  /** On narrow screens, panels of the side column follow the main ones. */
  readonly column: 'main' | 'side'
  /** Renders a `Panel`, or nothing when it has nothing to offer. */
  readonly Panel: (props: MePanelProps) => ReactElement | null
}
