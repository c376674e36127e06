import type { TFunction } from 'i18next'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Column } from '#console/ui/data-grid/column.ts'
import { DataGrid } from '#console/ui/data-grid/data-grid.tsx'
import { useColumnLayout } from '#console/ui/data-grid/use-column-layout.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { GroupBadge } from '#console/ui/elements/group-tag.tsx'
import { useGroupWords } from '#console/ui/elements/use-group-description.ts'
import { RowActions } from '#console/ui/lists/row-actions.tsx'
import { showError } from '#console/ui/messages/toast.ts'
import { GroupDrawer } from './group-drawer.tsx'
import {
  FIRST_GROUP,
  type GroupMaps,
  type GroupRow,
  groupRows,
  withGroup,
  withoutGroup,
} from './group-table.ts'
import { useHeld } from './use-paused-refresh.ts'
import type { SettingsForm } from './use-settings-form.ts'

/** The groups as a table. A change in the table stays unsaved until the settings page is saved. */
export function GroupEditor(props: { form: SettingsForm; maps: GroupMaps }) {
  const { form, maps } = props
  const { t } = useTranslation()
  const [edited, setEdited] = useState<GroupRow | 'new' | null>(null)
  useHeld(form, edited !== null)
  const rows = useMemo(() => groupRows(maps), [maps])
  const remove = ({ name }: GroupRow) => {
    if (name === FIRST_GROUP) return showError(t('prices.groupDefaultStays'))
    form.set(withoutGroup(maps, name))
  }
  const layout = useColumnLayout('groups-table-columns', groupColumns(t, setEdited, remove))
  return (
    <>
      <div className="tg-list-ended">
        <DataGrid
          label={t('prices.groupGrid')}
          rows={rows}
          rowKey={rowKey}
          layout={layout}
          total={rows.length}
          onOpen={setEdited}
          maxHeight="none"
        />
      </div>
      <div className="tg-group-add">
        <Button icon="add" onClick={() => setEdited('new')}>
          {t('prices.groupAdd')}
        </Button>
      </div>
      <GroupDrawer
        edited={edited}
        groups={rows.map(({ name }) => name)}
        onClose={() => setEdited(null)}
        onApply={(row) => {
          form.set(withGroup(maps, row))
          setEdited(null)
        }}
      />
    </>
  )
}

const rowKey = (row: GroupRow): string => row.name

function Description({ row }: { row: GroupRow }) {
  const words = useGroupWords()
  if (row.description === '') return <span className="tg-quiet">–</span>
  return <>{words(row.name, row.description)}</>
}

function groupColumns(
  t: TFunction,
  onEdit: (row: GroupRow) => void,
  onDelete: (row: GroupRow) => void,
): Column<GroupRow>[] {
  return [
    {
      id: 'name',
      title: t('ui.groupName'),
      width: 160,
      isPinned: true,
      onCard: 'title',
      cell: ({ name, color }) => <GroupBadge name={name} color={color} />,
    },
    {
      id: 'description',
      title: t('prices.groupDesc'),
      width: 180,
      isGrowing: true,
      cell: (row) => <Description row={row} />,
    },
    {
      id: 'ratio',
      title: t('ui.ratio'),
      width: 100,
      align: 'end',
      onCard: 'aside',
      cell: ({ ratio }) => `×${ratio}`,
    },
    {
      id: 'usable',
      title: t('prices.groupUsable'),
      width: 110,
      cell: ({ isUsable }) => t(isUsable ? 'prices.groupYes' : 'prices.groupNo'),
    },
    {
      id: 'specials',
      title: t('prices.groupSpecials'),
      width: 180,
      cell: ({ specials }) =>
        specials.size === 0 ? (
          <span className="tg-quiet">–</span>
        ) : (
          [...specials].map(([name, ratio]) => `${name} ×${ratio}`).join(', ')
        ),
    },
    actionsColumn(t, onEdit, onDelete),
  ]
}

function actionsColumn(
  t: TFunction,
  onEdit: (row: GroupRow) => void,
  onDelete: (row: GroupRow) => void,
): Column<GroupRow> {
  return {
    id: 'actions',
    title: t('words.actions'),
    width: 96,
    isPinned: true,
    align: 'end',
    onCard: 'foot',
    cell: (row) => (
      <RowActions
        acts={[
          {
            icon: 'edit',
            label: t('prices.groupEdit', { name: row.name }),
            act: () => onEdit(row),
            isOnTable: true,
          },
          {
            icon: 'trash',
            label: t('prices.groupDelete', { name: row.name }),
            act: () => onDelete(row),
          },
        ]}
      />
    ),
  }
}
