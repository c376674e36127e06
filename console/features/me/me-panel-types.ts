import type { ReactElement } from 'react'
import type { User } from '#read-api/contract/users.ts'

/**
 * The properties of each panel on the account page. The user is undefined until the account has
 * loaded.
 */
export type MePanelProps = { readonly user: User | undefined }

export type MePanel = {
  readonly id: string
  readonly column: 'main' | 'side'
  readonly Panel: (props: MePanelProps) => ReactElement | null
}
