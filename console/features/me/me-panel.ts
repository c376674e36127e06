import type { ReactElement } from 'react'
import type { User } from '#read-api/contract/users.ts'

/** The user's account, which is undefined while it is loading. */
export type MePanelProps = { readonly user: User | undefined }

export type MePanel = {
  readonly id: string
  /** The column of the panel. On narrow screens, the side column is shown below the main column. */
  readonly column: 'main' | 'side'
  readonly Panel: (props: MePanelProps) => ReactElement | null
}
