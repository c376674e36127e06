import { useLocation, useMatch, useNavigate } from 'react-router-dom'
import { SETTLED } from '#console/ui/use-leave-guard.ts'

/** Whose form is open: `/user/edit/5` (0 is nobody's id), or none over the list. */
export function useDrawerAddress() {
  const navigate = useNavigate()
  const { search } = useLocation()
  const match = useMatch('/user/edit/:id')
  const go = (pathname: string, state: object | null) =>
    void navigate({ pathname, search }, { preventScrollReset: true, state })
  return {
    edited: match === null ? null : idOf(match.params.id),
    open: (id: number) => go(`/user/edit/${id}`, null),
    /** What was changed there is saved, or given up. */
    close: () => go('/admin/users', SETTLED),
  }
}

const idOf = (text: string | undefined): number =>
  text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0
