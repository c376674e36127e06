import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { usableModelsQuery } from '#console/api/own-user-group-and-model-queries.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { copyText } from '#console/ui/elements/copy-to-clipboard.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import { showSuccess } from '#console/ui/messages/toast.ts'

const INITIAL_MODELS_MAX = 10

export function UsableModelsPanel() {
  const { t } = useTranslation()
  const models = useQuery(usableModelsQuery)
  return (
    <Panel title={t('me.models')} lead={t('me.modelsLead')}>
      <QueryView query={models} height={96}>
        {(names) => <Names names={names} />}
      </QueryView>
    </Panel>
  )
}

function Names({ names }: { names: readonly string[] }) {
  const { t } = useTranslation()
  const [showsAll, setShowsAll] = useState(false)
  const left = names.length - INITIAL_MODELS_MAX
  const copy = async (name: string) => {
    if (await copyText(name)) showSuccess(t('me.modelCopied', { name }))
  }
  if (names.length === 0) return <p className="tg-muted">{t('me.noModels')}</p>
  return (
    <>
      <ul className="tg-me-models">
        {(showsAll ? names : names.slice(0, INITIAL_MODELS_MAX)).map((name) => (
          <li key={name}>
            <button
              type="button"
              className="tg-me-model"
              title={t('me.copyModel', { name })}
              onClick={() => void copy(name)}
            >
              {name}
            </button>
          </li>
        ))}
      </ul>
      {left > 0 && (
        <Button
          tone="quiet"
          size="small"
          endIcon={showsAll ? 'chevronUp' : 'chevronDown'}
          isExpanded={showsAll}
          onClick={() => setShowsAll(!showsAll)}
        >
          {showsAll ? t('me.fewerModels') : t('me.moreModels', { count: left })}
        </Button>
      )}
    </>
  )
}
