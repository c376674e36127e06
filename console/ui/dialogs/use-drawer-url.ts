import { useLocation, useMatch, useNavigate } from 'react-router-dom'
import { formReturnPath } from '../forms/form-return-path.ts'
import { LEAVE_CONFIRMED } from '../forms/use-leave-guard.ts'

export type EditedId = number | 'new' | null

type Addresses = { list: string; add?: string; edit: string }

/**
 * Returns what a drawer shows according to the path of the URL, and functions that open and close
 * the drawer. The path `add` opens an empty form. The path `edit/:id` opens the item with this id.
 * If the id is invalid, the drawer reports that the item was not found.
 */
export function useDrawerUrl({ list, add = list, edit }: Addresses) {
  const navigate = useNavigate()
  const { search, state } = useLocation()
  const returnTo = formReturnPath(state)
  const isNew = useMatch(add) !== null && add !== list
  const match = useMatch(`${edit}/:id`)
  const edited: EditedId = isNew ? 'new' : match === null ? null : idOf(match.params.id)
  const go = (pathname: string, state: object | null) =>
    void navigate({ pathname, search }, { preventScrollReset: true, state })
  return {
    edited,
    open: (target: number | 'new') => go(target === 'new' ? add : `${edit}/${target}`, null),
    /**
     * Closes the form. Opens the page from which a link opened the form, or the list if there was
     * no such page. This function does not ask about unsaved changes, because the form has already
     * asked.
     */
    close: () => {
      if (returnTo === null) go(list, LEAVE_CONFIRMED)
      else void navigate(returnTo, { state: LEAVE_CONFIRMED })
    },
  }
}

const idOf = (text: string | undefined): number =>
  text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0
