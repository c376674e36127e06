import type { Fact, Recorded } from '#domain/shared/event.ts'
import type { Cells, RowChanges } from '../runner/row-changes.ts'

type OfUser = Recorded<Fact<string, { readonly userId: number }>>

/** Sets cells of the user of an event, and where it was changed last. */
export const changeUser = (
  { data, position }: Pick<OfUser, 'data' | 'position'>,
  rows: RowChanges,
  cells: Cells,
): void => rows.patch('users', { id: data.userId }, { ...cells, changed_position: position })
