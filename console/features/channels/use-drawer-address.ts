import { useLocation, useMatch, useNavigate } from 'react-router-dom'
import { SETTLED } from '#console/ui/use-leave-guard.ts'

export type Edited = number | 'new' | null

/**
 * Which channel's form is open: `/channel/add`, `/channel/edit/5`, or none over the list. 0 is no
 * channel's id: the address names none.
 */
export function useDrawerAddress() {
  const navigate = useNavigate()
  const { search } = useLocation()
  const isNew = useMatch('/channel/add') !== null
  const match = useMatch('/channel/edit/:id')
  const edited: Edited = isNew ? 'new' : match === null ? null : idOf(match.params.id)
  const go = (pathname: string, state: object | null) =>
    void navigate({ pathname, search }, { preventScrollReset: true, state })
  return {
    edited,
    open: (asked: number | 'new') =>
      go(asked === 'new' ? '/channel/add' : `/channel/edit/${asked}`, null),
    /** What was changed there is saved, or given up. */
    close: () => go('/admin/channels', SETTLED),
  }
}

const idOf = (text: string | undefined): number =>
  text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0
