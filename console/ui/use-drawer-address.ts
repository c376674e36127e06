import { useLocation, useMatch, useNavigate } from 'react-router-dom'
import { returnToOf } from './form-return.ts'
import { SETTLED } from './use-leave-guard.ts'

export type Edited = number | 'new' | null

/**
 * Which one's form is open, by the address: that for a new one, one below `edit`, or none over the
 * list. 0 is nobody's id: the address names none.
 */
export function useDrawerAddress(at: { list: string; add: string; edit: string }) {
  const navigate = useNavigate()
  const { search, state } = useLocation()
  const returnTo = returnToOf(state)
  const isNew = useMatch(at.add) !== null
  const match = useMatch(`${at.edit}/:id`)
  const edited: Edited = isNew ? 'new' : match === null ? null : idOf(match.params.id)
  const go = (pathname: string, state: object | null) =>
    void navigate({ pathname, search }, { preventScrollReset: true, state })
  return {
    edited,
    open: (asked: number | 'new') => go(asked === 'new' ? at.add : `${at.edit}/${asked}`, null),
    /** What was changed there is saved, or given up. Leads back where the form was opened from. */
    close: () => {
      if (returnTo === null) go(at.list, SETTLED)
      else void navigate(returnTo, { state: SETTLED })
    },
  }
}

const idOf = (text: string | undefined): number =>
  text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0
