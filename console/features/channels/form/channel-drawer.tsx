import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { isNotFound } from '#console/api/api-error.ts'
import { channelTypesQuery } from '#console/api/channels.ts'
import { apiQuery } from '#console/api/client.ts'
import { Drawer } from '#console/ui/dialogs/drawer.tsx'
import { useDialogItem } from '#console/ui/dialogs/use-dialog-item.ts'
import type { EditedId } from '#console/ui/dialogs/use-drawer-url.ts'
import { useFirstVersion } from '#console/ui/forms/use-first-version.ts'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { ErrorState } from '#console/ui/layout/error-state.tsx'
import { FormSkeleton } from '#console/ui/layout/skeleton.tsx'
import { ChannelDrawerForm } from './channel-drawer-form.tsx'
import { UnpricedModelsStep } from './unpriced-models-step.tsx'

export function ChannelDrawer(props: { edited: EditedId; onClose: () => void }) {
  const { isOpen, lastItem, key } = useDialogItem(props.edited)
  const frame = { key: `${lastItem} ${key}`, isOpen, onClose: props.onClose }
  return <ChannelDrawerContent {...frame} edited={lastItem ?? 'new'} />
}

type ChannelDrawerContentProps = { isOpen: boolean; edited: number | 'new'; onClose: () => void }

function ChannelDrawerContent(props: ChannelDrawerContentProps) {
  const { t } = useTranslation()
  const id = props.edited === 'new' ? 0 : props.edited
  const types = useQuery({ ...channelTypesQuery, enabled: props.isOpen })
  const stored = useQuery({ ...channelQuery(id), enabled: props.isOpen && id > 0 })
  const loaded = useFirstVersion(stored)
  const [unpriced, setUnpriced] = useState<readonly string[]>([])
  const isReady = types.data !== undefined && (props.edited === 'new' || loaded !== null)
  if (unpriced.length > 0) return <UnpricedModelsStep {...props} models={unpriced} isSaved />
  if (isReady) return <ChannelDrawerForm {...props} channel={loaded} onUnpriced={setUnpriced} />
  const title = props.edited === 'new' ? 'shared.newChannel' : 'channelForm.editPending'
  const error = id === 0 && props.edited !== 'new' ? MISSING : (stored.error ?? types.error)
  return (
    <Drawer isOpen={props.isOpen} onClose={props.onClose} title={t(title)}>
      {error === null ? (
        <FormSkeleton fields={6} />
      ) : (
        <ChannelLoadError
          error={error}
          onRetry={() => {
            void types.refetch()
            if (id > 0) void stored.refetch()
          }}
        />
      )}
    </Drawer>
  )
}

const MISSING = 'missing'

function ChannelLoadError(props: { error: Error | typeof MISSING; onRetry: () => void }) {
  const { t } = useTranslation()
  if (props.error !== MISSING && !isNotFound(props.error)) {
    return <ErrorState error={props.error} onRetry={props.onRetry} />
  }
  return (
    <div role="alert">
      <EmptyState icon="alert" title={t('channels.missing')} />
    </div>
  )
}

const channelKey = (id: number) => ['channel', id] as const

const channelQuery = (id: number) => ({
  ...apiQuery('GET /api/channel/:id', { params: { id } }, channelKey(id)),
  staleTime: 0,
  gcTime: 0,
})
