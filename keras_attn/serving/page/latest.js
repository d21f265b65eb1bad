/** One task at a time, the newest: an older one is aborted and its answer never used. */
export class Latest {
  #controller = null;

  /**
   * Run `task(signal)`; errors go to `failed`. A task that awaits must look at the signal before it
   * shows anything: an answer may be here already when the task is aborted.
   */
  async run(task, failed) {
    this.stop();
    const controller = new AbortController();
    this.#controller = controller;
    try {
      await task(controller.signal);
    } catch (error) {
      if (!controller.signal.aborted) failed(error);
    } finally {
      if (this.#controller === controller) this.#controller = null;
    }
  }

  stop() {
    this.#controller?.abort();
    this.#controller = null;
  }
}
