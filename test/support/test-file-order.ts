import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Mixes the test files of all projects, larger files first. In the default order, all browser tests
 * would compete for the cores first, and the cores would be idle later, while server tests wait for
 * each other. Projects without isolation run last and without interruption, because a worker
 * process is only reused for consecutive files of one project.
 */
export class TestFileOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const places = new Map<TestSpecification, number>()
    for (const ofProject of Map.groupBy(sorted, ({ project }) => project.name).values()) {
      for (const [i, file] of ofProject.entries()) places.set(file, (i + 0.5) / ofProject.length)
    }
    const place = (file: TestSpecification): number =>
      file.project.config.isolate ? (places.get(file) ?? 0) : 1
    return sorted.toSorted((a, b) => place(a) - place(b))
  }
}
