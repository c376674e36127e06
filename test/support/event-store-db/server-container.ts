import { GenericContainer, getContainerRuntimeClient, Wait } from 'testcontainers'

const IMAGE = 'eventstore/eventstore:23.10.1-bookworm-slim'
const PORT = 2113

export type ServerContainer = { readonly url: string; readonly stop: () => Promise<void> }

export const hasDocker: boolean = await getContainerRuntimeClient().then(
  () => true,
  () => false,
)

export async function startServerContainer(): Promise<ServerContainer> {
  const container = await new GenericContainer(IMAGE)
    .withExposedPorts(PORT)
    .withEnvironment({ EVENTSTORE_INSECURE: 'true', EVENTSTORE_RUN_PROJECTIONS: 'None' })
    .withWaitStrategy(Wait.forHttp('/health/live', PORT).forStatusCode(204))
    .start()
  return {
    url: `esdb://${container.getHost()}:${container.getMappedPort(PORT)}?tls=false`,
    stop: async () => {
      await container.stop()
    },
  }
}
