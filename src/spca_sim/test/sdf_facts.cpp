// Loads an SDF or URDF file with the real sdformat library and prints what it understood, one fact a line, for
// test_sdformat.py. The exit status is the number of errors.
#include <iostream>
#include <sdf/sdf.hh>

static void print(const sdf::Model &model)
{
  std::cout << "model " << model.Name() << " " << model.Static() << " " << model.RawPose() << "\n";
  for (uint64_t i = 0; i < model.LinkCount(); ++i)
  {
    const sdf::Link *link = model.LinkByIndex(i);
    std::cout << "link " << link->Name() << " " << link->Inertial().MassMatrix().Mass() << "\n";
    for (uint64_t c = 0; c < link->CollisionCount(); ++c)
      std::cout << "collision " << link->CollisionByIndex(c)->Name() << "\n";
    for (uint64_t s = 0; s < link->SensorCount(); ++s)
    {
      const sdf::Sensor *sensor = link->SensorByIndex(s);
      std::cout << "sensor " << sensor->TypeStr();
      if (sensor->Type() == sdf::SensorType::CONTACT)
        for (auto name = sensor->Element()->GetElement("contact")->FindElement("collision"); name;
             name = name->GetNextElement("collision"))
          std::cout << " " << name->Get<std::string>();
      if (sensor->Type() == sdf::SensorType::RGBD_CAMERA)
        std::cout << " " << sensor->CameraSensor()->LensIntrinsicsFx() << " "
                  << sensor->Element()->GetElement("camera")->Get<std::string>("optical_frame_id");
      std::cout << "\n";
    }
  }
  for (uint64_t i = 0; i < model.JointCount(); ++i)
    std::cout << "joint " << model.JointByIndex(i)->Name() << "\n";
}

int main(int, char **arguments)
{
  sdf::Root root;
  const sdf::Errors errors = root.Load(arguments[1]);
  for (const auto &error : errors)
    std::cerr << error << "\n";
  if (root.Model() != nullptr)
    print(*root.Model());
  for (uint64_t w = 0; w < root.WorldCount(); ++w)
    for (uint64_t i = 0; i < root.WorldByIndex(w)->ModelCount(); ++i)
      print(*root.WorldByIndex(w)->ModelByIndex(i));
  return static_cast<int>(errors.size());
}
