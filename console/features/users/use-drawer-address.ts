import { useLocation, useMatch, useNavigate } from 'react-router-dom'
import { SETTLED } from '#console/ui/use-leave-guard.ts'

/** A user by id (0 is nobody's), oneself, or nobody. */
export type Edited = number | 'self' | null

/** Whose form is open: `/user/edit/5`, one's own at `/user/edit`, or none over the list. */
export function useDrawerAddress(home: string) {
  const navigate = useNavigate()
  const { search } = useLocation()
  const isSelf = useMatch('/user/edit') !== null
  const match = useMatch('/user/edit/:id')
  const edited: Edited = isSelf ? 'self' : match === null ? null : idOf(match.params.id)
  const go = (pathname: string, state: object | null) =>
    void navigate({ pathname, search }, { preventScrollReset: true, state })
  return {
    edited,
    open: (asked: number | 'self') =>
      go(asked === 'self' ? '/user/edit' : `/user/edit/${asked}`, null),
    /** What was changed there is saved, or given up. */
    close: () => go(home, SETTLED),
  }
}

const idOf = (text: string | undefined): number =>
  text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0
