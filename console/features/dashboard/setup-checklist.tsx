import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { channelsQuery, enabledModelsQuery } from '#console/api/channels.ts'
import {
  chatModelsQuery,
  usableModelsQuery,
} from '#console/api/own-user-group-and-model-queries.ts'
import { isAdmin as isAdminUser, useUser } from '#console/api/session.ts'
import { useStatus } from '#console/api/status.ts'
import { tokensQuery } from '#console/api/token-and-redemption-queries.ts'
import { ClientSetup } from '#console/ui/client-setup/client-setup.tsx'
import { ButtonLink } from '#console/ui/elements/button-link.tsx'
import { Icon } from '#console/ui/elements/icons.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import { type Step, setupSteps, stepPath } from './setup-steps.ts'

const FIRST_CHANNEL = { keyword: '', model: '', group: '', page: 0, pageSize: 10 }
const FIRST_TOKEN = { keyword: '', page: 0, pageSize: 10 }
const FALLBACK_MODEL = 'gpt-4o-mini'
/**
 * Query options that read the data for the steps again every 5 s. A step may be completed in
 * another tab or by another admin.
 */
const POLLING = { refetchOnMount: 'always', refetchInterval: 5_000 } as const

export function SetupChecklist(props: { calls: number; isOwnPage?: boolean }) {
  const { calls, isOwnPage = false } = props
  const { t } = useTranslation()
  const isAdmin = isAdminUser(useUser())
  const channels = useQuery({ ...channelsQuery(FIRST_CHANNEL), ...POLLING, enabled: isAdmin })
  const enabledModels = useQuery({ ...enabledModelsQuery, ...POLLING, enabled: isAdmin })
  const models = useQuery({ ...usableModelsQuery, ...POLLING })
  const chats = useQuery({ ...chatModelsQuery, ...POLLING })
  const tokens = useQuery({ ...tokensQuery(FIRST_TOKEN), ...POLLING })
  // Shows a placeholder until all data has loaded, because the panel's height depends on this data.
  const isWaiting = [channels, enabledModels, models, chats, tokens].some(
    ({ isLoading }) => isLoading,
  )
  const steps = setupSteps({
    isAdmin,
    channels: channels.data?.total ?? null,
    callableModels: models.data?.length ?? null,
    tokens: tokens.data?.total ?? null,
    calls,
  })
  const done = steps.filter(({ isDone }) => isDone).length
  const hasUnpriced =
    enabledModels.data?.some((model) => models.data?.includes(model) === false) === true
  const [first = FALLBACK_MODEL, ...others] = chats.data ?? []
  const isComplete = done === steps.length
  if (isWaiting) return <SetupChecklistSkeleton />
  return (
    <Panel
      title={t(
        isComplete ? 'dashboard.startDone' : isOwnPage ? 'dashboard.startLead' : 'dashboard.start',
      )}
      lead={
        isComplete ? t('dashboard.startDoneLead') : isOwnPage ? undefined : t('dashboard.startLead')
      }
      actions={
        <span className="tg-muted">{t('dashboard.progress', { done, all: steps.length })}</span>
      }
    >
      <div className="tg-dash-start">
        <ol>
          {steps.map((step, index) => (
            <StepItem
              key={step.name}
              step={step}
              number={index + 1}
              path={stepPath(step.name, hasUnpriced)}
            />
          ))}
        </ol>
        <ClientSetup apiKey={tokens.data?.items[0]?.key ?? null} models={[first, ...others]} />
      </div>
    </Panel>
  )
}

export const SetupChecklistSkeleton = () => (
  <Panel>
    <Skeleton height={460} />
  </Panel>
)

function StepItem(props: { step: Step; number: number; path: string }) {
  const { step, number, path } = props
  const { t } = useTranslation()
  const isSelfUse = useStatus()?.self_use_mode_enabled === true
  const { name, isDone, isNext } = step
  const opensForm = name !== 'call'
  const action = t(`dashboard.steps.${name}.action`)
  return (
    <li className={isNext ? 'tg-dash-step tg-dash-step-next' : 'tg-dash-step'}>
      <span className={isDone ? 'tg-dash-mark tg-dash-mark-done' : 'tg-dash-mark'}>
        <span className="tg-visually-hidden">
          {isDone ? t('dashboard.done') : t('dashboard.todo')}
        </span>
        {isDone ? <Icon name="check" size={14} /> : <span aria-hidden="true">{number}</span>}
      </span>
      <div>
        <h3>{t(`dashboard.steps.${name}.title`)}</h3>
        <p>
          {name === 'price'
            ? t(isSelfUse ? 'dashboard.selfUsePrice' : 'shared.unpricedRefused')
            : t(`dashboard.steps.${name}.body`)}
        </p>
        {opensForm && isNext && (
          <ButtonLink to={path} tone="primary" state={RETURN_STATE}>
            {action}
          </ButtonLink>
        )}
        {opensForm && !isNext && !isDone && (
          <Link to={path} state={RETURN_STATE}>
            {action}
          </Link>
        )}
        {!opensForm && isNext && <p className="tg-dash-waiting">{t('dashboard.waitingForCall')}</p>}
        {!opensForm && isDone && <Link to="/app/logs/api-usage">{action}</Link>}
      </div>
    </li>
  )
}

const RETURN_STATE = { returnTo: '/app/start' }
