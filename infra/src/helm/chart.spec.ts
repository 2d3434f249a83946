import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1';
import { PodMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import { Deployment, StatefulSet } from 'kubernetes-models/apps/v1';
import { Job } from 'kubernetes-models/batch/v1';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, Service } from 'kubernetes-models/v1';
import { routes, serviceNames } from '@nightshift/contracts';
import { chartRoot, chartValues, renderChart, type Manifest } from './chart';

const models = {
  ...{ Deployment, StatefulSet, Job, NetworkPolicy, PodDisruptionBudget, ConfigMap, Service },
  ...{ ScaledObject, PodMonitor },
} as const;
const values = chartValues();
const manifests = renderChart(values);
const of = (kind: string) => manifests.filter((manifest) => manifest.kind === kind);
const component = (manifest: Manifest) => manifest.metadata.labels?.['app.kubernetes.io/component'];
interface PodSpec {
  template: {
    spec: {
      terminationGracePeriodSeconds?: number;
      containers: { env: { name: string; value?: string }[]; envFrom?: unknown[] }[];
    };
  };
}
const pod = (manifest: Manifest) => (manifest.spec as unknown as PodSpec).template.spec;

describe('the Helm chart', () => {
  it('has no template that the test leaves out', () => {
    expect(readdirSync(join(chartRoot, 'templates')).sort()).toEqual(
      [
        '_names.tpl',
        'compactor-scaling.yaml',
        'configuration.yaml',
        'migration.yaml',
        'network-policy.yaml',
        'pod-monitor.yaml',
        'runner.yaml',
        'services.yaml',
      ].sort(),
    );
  });

  it('renders manifests that the Kubernetes schemas accept', () => {
    for (const manifest of manifests) {
      const Model = models[manifest.kind as keyof typeof models];
      expect(() => new Model(manifest as never).validate()).not.toThrow();
    }
  });

  it('is refused by the schemas when a field has the wrong type (the check can fail)', () => {
    const [scaled] = of('ScaledObject');
    const unbounded = { ...scaled, spec: { ...scaled?.spec, maxReplicaCount: 'many' } };
    expect(() => new ScaledObject(unbounded as never).validate()).toThrow();
    const broken = structuredClone(of('Deployment')[0]) as Manifest;
    (broken.spec as { replicas: unknown }).replicas = 'many';
    expect(() => new Deployment(broken as never).validate()).toThrow();
  });

  it('gives every service the authority of NATS where it is named', () => {
    const { nats, ...rest } = values;
    const secured = renderChart({ ...rest, nats: { ...nats, caSecret: 'nats-ca' } } as typeof values);
    for (const manifest of secured.filter(({ kind }) => ['Deployment', 'StatefulSet'].includes(kind)))
      expect(JSON.stringify(pod(manifest))).toContain('"secretName":"nats-ca"');
    expect(JSON.stringify(manifests)).not.toContain('NATS_CA_FILE');
  });

  it('runs every service of the routes table once', () => {
    expect([...of('Deployment'), ...of('StatefulSet')].map(component).sort()).toEqual([...serviceNames].sort());
  });

  it('scales the compactor on the stream and consumer of compaction.run', () => {
    const [scaled] = of('ScaledObject');
    const [trigger] = (scaled?.spec as { triggers: { metadata: object }[] }).triggers;
    expect(routes.compactionRun.owner).toBe('compactor');
    expect(trigger?.metadata).toEqual({
      natsServerMonitoringEndpoint: 'nats-headless.nats.svc:8222',
      account: 'NIGHTSHIFT',
      stream: routes.compactionRun.name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase(),
      consumer: routes.compactionRun.owner,
      lagThreshold: String(values.compactorScaling.passesPerWorker),
      activationLagThreshold: '0',
    });
  });

  it('leaves the number of compactors to the scaler, and fixes it without one', () => {
    const replicas = (enabled: boolean) => {
      const rendered = renderChart({ ...values, compactorScaling: { ...values.compactorScaling, enabled } });
      const compactor = rendered.find((manifest) => manifest.kind === 'Deployment' && component(manifest) === 'compactor');
      return (compactor?.spec as { replicas?: number }).replicas;
    };
    expect([replicas(true), replicas(false)]).toEqual([undefined, 1]);
  });

  it('gives provider keys to the gateway alone and a database neither to the compactor nor to the runner', () => {
    const withKeys = of('Deployment').filter((manifest) => pod(manifest).containers.some(({ envFrom }) => envFrom));
    expect(withKeys.map(component)).toEqual(['provider-gateway']);
    const withDatabase = [...of('Deployment'), ...of('StatefulSet')].filter((manifest) =>
      pod(manifest).containers.some(({ env }) => env.some(({ name }) => name === 'DATABASE_URL')),
    );
    expect(withDatabase.map(component)).toEqual([
      'api',
      'model-registry',
      'orchestrator',
      'provider-gateway',
      'tool-result-store',
    ]);
  });

  it('ends the drain of a service before Kubernetes kills it', () => {
    for (const manifest of [...of('Deployment'), ...of('StatefulSet')]) {
      const { terminationGracePeriodSeconds = 0, containers } = pod(manifest);
      const grace = Number(containers[0]?.env.find(({ name }) => name === 'SHUTDOWN_GRACE_MS')?.value);
      expect(grace).toBe((terminationGracePeriodSeconds - 5) * 1000);
    }
  });

  it('never blocks the drain of a node', () => {
    for (const budget of of('PodDisruptionBudget')) expect(budget.spec).toMatchObject({ maxUnavailable: 1 });
    expect(of('PodDisruptionBudget').map(({ metadata }) => metadata.name)).toEqual([
      'nightshift-api',
      'nightshift-model-registry',
      'nightshift-orchestrator',
      'nightshift-provider-gateway',
      'nightshift-tool-result-store',
    ]);
  });
});
