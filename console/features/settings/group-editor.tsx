import type { TFunction } from 'i18next'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { actionsColumn, type Column, column } from '#console/ui/data-grid/column-and-layout.ts'
import { DataGrid } from '#console/ui/data-grid/data-grid.tsx'
import { useColumnLayout } from '#console/ui/data-grid/use-column-layout.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { GroupBadge, useTranslateGroupDescription } from '#console/ui/elements/group-tag.tsx'
import { deleteAction, editAction } from '#console/ui/lists/list-actions.ts'
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
} from './group-rows.ts'
import { usePausedRefresh } from './settings-form-hooks.ts'
import type { SettingsForm } from './use-settings-form.ts'

/** Edits groups. The changes are saved only when the settings page is saved. */
export function GroupEditor(props: { form: SettingsForm; maps: GroupMaps }) {
  const { form, maps } = props
  const { t } = useTranslation()
  const [edited, setEdited] = useState<GroupRow | 'new' | null>(null)
  usePausedRefresh(form, edited !== null)
  const rows = useMemo(() => groupRows(maps), [maps])
  const remove = ({ name }: GroupRow) => {
    if (name === FIRST_GROUP) return showError(t('pricing.groupDefaultFixed'))
    form.set(withoutGroup(maps, name))
  }
  const layout = useColumnLayout('groups-table-columns', groupColumns(t, setEdited, remove))
  return (
    <>
      <div className="tg-list-ended">
        <DataGrid
          label={t('pricing.groupGrid')}
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
          {t('pricing.groupAdd')}
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
  const describeGroup = useTranslateGroupDescription()
  if (row.description === '') return NOTHING
  return <>{describeGroup(row.name, row.description)}</>
}

const NOTHING = <span className="tg-quiet">–</span>

function groupColumns(
  t: TFunction,
  onEdit: (row: GroupRow) => void,
  onDelete: (row: GroupRow) => void,
): Column<GroupRow>[] {
  const badge = ({ name, color }: GroupRow) => <GroupBadge name={name} color={color} />
  const usable = ({ isUsable }: GroupRow) => t(isUsable ? 'pricing.groupYes' : 'pricing.groupNo')
  const overridesText = ({ ratioOverrides: ratios }: GroupRow) =>
    ratios.size === 0 ? NOTHING : [...ratios].map(([name, ratio]) => `${name} ×${ratio}`).join(', ')
  return [
    column('name', t('ui.groupName'), 160, badge, { isPinned: true, onCard: 'title' }),
    column('description', t('pricing.groupDesc'), 180, (row) => <Description row={row} />, {
      isGrowing: true,
    }),
    column('ratio', t('ui.ratio'), 100, ({ ratio }) => `×${ratio}`, {
      align: 'end',
      onCard: 'aside',
    }),
    column('usable', t('pricing.groupUsable'), 110, usable),
    column('ratioOverrides', t('pricing.groupRatioOverrides'), 180, overridesText),
    actionsColumn(t, 96, (row) => (
      <RowActions
        actions={[
          editAction(() => onEdit(row), t('pricing.groupEdit', { name: row.name })),
          deleteAction(() => onDelete(row), t('pricing.groupDelete', { name: row.name })),
        ]}
      />
    )),
  ]
}
